// What the panel says.
import type { Inspection } from 'octavo';

type StationName = Inspection['stations'][number]['name'];

/** The texts of the panel in one language. A sign in braces stands for a number or name. */
export interface HoodStrings {
  readonly locale: string;
  readonly noModel: string;
  readonly kernel: string;
  readonly speed: string;
  readonly speedUnit: string;
  readonly time: string;
  readonly timeUnit: string;
  readonly median: string;
  readonly memory: string;
  readonly size: string;
  readonly inInt8: string;
  readonly inFP32: string;
  readonly smaller: string;
  readonly waiting: string;
  readonly failed: string;
  readonly end: string;
  readonly attention: string;
  readonly attentionCaption: string;
  readonly layer: string;
  readonly layerNumber: string;
  readonly head: string;
  readonly headNumber: string;
  readonly allHeads: string;
  readonly cell: string;
  readonly scales: string;
  readonly scalesCaption: string;
  readonly scalesCount: string;
  readonly rowScale: string;
  readonly encoder: string;
  readonly decoder: string;
  readonly station: string;
  readonly stations: Readonly<Record<StationName, string>>;
  readonly initials: Readonly<Record<StationName, string>>;
  readonly reach: string;
  readonly oneScale: string;
  readonly manyScales: string;
  readonly pieces: string;
}

export const hoodStrings: { readonly en: HoodStrings; readonly de: HoodStrings } = {
  en: {
    locale: 'en',
    noModel: 'No model is loaded yet.',
    kernel: 'Kernel',
    speed: 'Speed',
    speedUnit: 'tokens/s',
    time: 'Time',
    timeUnit: 'ms per sentence',
    median: 'median {n} ms',
    memory: 'Memory',
    size: 'Size',
    inInt8: 'INT8, here',
    inFP32: 'the same in FP32',
    smaller:
      '{parameters} parameters; engine {engine}, model {model}: {n} times smaller than with four bytes each',
    waiting: 'Translate a sentence to see inside.',
    failed: 'This sentence cannot be shown: {reason}',
    end: 'end',
    attention: 'Integer attention',
    attentionCaption:
      'How much each new piece (row) looks at each piece of your sentence (column). No softmax but a polynomial of integers, ReLU(x + b)ⁿ + |δ|, as 0 … 127 in each head.',
    layer: 'Decoder layer',
    layerNumber: 'Layer {n}',
    head: 'Head',
    headNumber: 'Head {n}',
    allHeads: 'Sum of all heads',
    cell: '{target} ← {source}: {n}, {share} of its row',
    scales: 'The scales on their way',
    scalesCaption:
      'Every token is a row of integers x with one scale s, and stands for x / s. After each operation the row is re-scaled to at most 127, and s takes up the factor: where values grow, s falls. Nothing is de-quantised before the logits.',
    scalesCount: 'Below: {integers} integers and only {scales} floating-point numbers.',
    rowScale: 'one scale',
    encoder: 'Encoder: your sentence',
    decoder: 'Decoder: the translation',
    station: 'Station',
    stations: {
      embedding: 'embedding',
      attention: 'after self-attention',
      cross: 'after cross-attention',
      ffn: 'after the feed-forward network',
      norm: 'last L1 norm',
    },
    initials: { embedding: 'E', attention: 'A', cross: 'C', ffn: 'F', norm: 'N' },
    reach: 'max |x / s|',
    oneScale: '{piece}, {station}: s = {s} = 2^{log}; values up to {reach}',
    manyScales: '{station}: s from {low} to {high}',
    pieces: 'Pieces: choose one to follow it',
  },
  de: {
    locale: 'de',
    noModel: 'Noch ist kein Modell geladen.',
    kernel: 'Rechenkern',
    speed: 'Tempo',
    speedUnit: 'Token/s',
    time: 'Zeit',
    timeUnit: 'ms je Satz',
    median: 'Median {n} ms',
    memory: 'Speicher',
    size: 'Größe',
    inInt8: 'INT8, hier',
    inFP32: 'dasselbe in FP32',
    smaller: '{parameters} Parameter; Engine {engine}, Modell {model}: {n}-mal kleiner als mit je vier Byte',
    waiting: 'Übersetzen Sie einen Satz, um hineinzusehen.',
    failed: 'Dieser Satz lässt sich nicht zeigen: {reason}',
    end: 'Ende',
    attention: 'Ganzzahlige Aufmerksamkeit',
    attentionCaption:
      'Wie sehr jedes neue Stück (Zeile) auf jedes Stück Ihres Satzes (Spalte) achtet. Kein Softmax, sondern ein Polynom ganzer Zahlen, ReLU(x + b)ⁿ + |δ|, als 0 … 127 in jedem Kopf.',
    layer: 'Decoder-Schicht',
    layerNumber: 'Schicht {n}',
    head: 'Kopf',
    headNumber: 'Kopf {n}',
    allHeads: 'Summe aller Köpfe',
    cell: '{target} ← {source}: {n}, {share} seiner Zeile',
    scales: 'Die Skalen auf ihrem Weg',
    scalesCaption:
      'Jedes Token ist eine Zeile ganzer Zahlen x mit einer Skala s und steht für x / s. Nach jeder Operation wird die Zeile auf höchstens 127 umskaliert, und s nimmt den Faktor auf: Wo Werte wachsen, fällt s. Vor den Logits wird nichts dequantisiert.',
    scalesCount: 'Unten: {integers} ganze Zahlen und nur {scales} Gleitkommazahlen.',
    rowScale: 'eine Skala',
    encoder: 'Encoder: Ihr Satz',
    decoder: 'Decoder: die Übersetzung',
    station: 'Station',
    stations: {
      embedding: 'Einbettung',
      attention: 'nach der Selbstaufmerksamkeit',
      cross: 'nach der Kreuzaufmerksamkeit',
      ffn: 'nach dem Feed-Forward-Netz',
      norm: 'letzte L1-Norm',
    },
    initials: { embedding: 'E', attention: 'A', cross: 'K', ffn: 'F', norm: 'N' },
    reach: 'max |x / s|',
    oneScale: '{piece}, {station}: s = {s} = 2^{log}; Werte bis {reach}',
    manyScales: '{station}: s von {low} bis {high}',
    pieces: 'Stücke: eines wählen, um ihm zu folgen',
  },
};

/** Puts values into the places of a text. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));

/** A number as the language writes it. */
export const number = ({ locale }: HoodStrings, value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(locale, options).format(value);

/** A number with only so many digits. */
export const rounded = (strings: HoodStrings, value: number, digits: number): string =>
  number(strings, value, { maximumSignificantDigits: digits });

/** The name of a station of the network. */
export function stationName(strings: HoodStrings, { name, layer }: Inspection['stations'][number]): string {
  const isOutside = name === 'embedding' || name === 'norm';
  return (isOutside ? '' : `${fill(strings.layerNumber, { n: layer + 1 })}, `) + strings.stations[name];
}
