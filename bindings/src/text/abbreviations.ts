// What a full stop after a word means, by language.

/** What a language's sentences look like around a full stop. */
export interface Punctuation {
  /** Abbreviations, in small letters and without the last stop, after which a sentence goes on. */
  inner: ReadonlySet<string>;
  /** Abbreviations that belong to a number or capital letter after them. */
  beforeNumber: ReadonlySet<string>;
  /** Words, in small letters, that begin a sentence more often than they follow an abbreviation. */
  starters: ReadonlySet<string>;
  /** Whether "3." may mean "third". */
  ordinals: boolean;
}

const set = (words: string) => new Set(words.split(' '));

const general = {
  inner:
    'dr mr mrs ms prof st sr mt ft capt cmdr col gen lt maj sgt gov sen rep rev hon pres supt messrs mme mlle mgr dipl ing vs viz cf resp incl excl approx aka',
  beforeNumber: 'no nos nr p pp pg vol ch sec fig figs eq tab art ver ca tel',
  starters: '',
};

const languages: Record<string, typeof general> = {
  en: {
    inner: 'e.g i.e eg ie dept univ assn bros gen esp al',
    beforeNumber: 'para pt ex op jan feb mar apr jun jul aug sep sept oct nov dec c cc',
    starters:
      'the a an this that these those he she it we you they i there here his her its our your their my in on at for from if when while as after before but and or so then however what who why how where which no yes not all some many most one please thanks let',
  },
  de: {
    inner:
      'z.b d.h u.a o.ä u.ä i.d.r z.t u.u v.a i.a s.o s.u m.e o.g bzw vgl hr fr frl dir hrsg evtl ggf inkl exkl zzgl abzgl sog jr geb gest verh ehem allg bes insb einschl lt mind max min str bspw gem dgl urspr',
    beforeNumber:
      's abb kap bd anm tabelle abs ziff jan feb mär apr jun jul aug sep sept okt nov dez mio mrd ab',
    starters:
      'der die das den dem des ein eine einer einem einen er sie es wir ihr ich du man dies diese dieser dieses jene sein seine unser mein in im an am auf aus bei für mit nach von vor zu wenn als weil während nachdem aber und oder doch so dann danach damals was wer warum wie wo nein ja nicht alle viele einige bitte danke hier dort heute gestern morgen jetzt',
  },
  fr: {
    inner: 'm mm mlles mmes me mgr p.ex c.-à-d env av bd pl ex éd dir chap',
    beforeNumber: 'n art p.p fig t janv févr avr juil sept oct nov déc réf',
    starters:
      'le la les un une des ce cet cette ces il elle on nous vous ils elles je tu son sa ses notre votre leur mon ma mes dans en à au aux pour par avec si quand lorsque mais et ou donc puis ensuite que qui quoi pourquoi comment où non oui tout tous toutes ici là merci',
  },
};

const ordinalLanguages = set('de da nb nn no fi cs sk pl hu et lv sl hr sr bs is lb gsw');

const months =
  /^(?:jan|feb|m[aäá]r|apr|avr|ma[iy]|ju[nl]|juin|juil|aug|ao[uû]t|sep|o[kc]t|nov|d[eé][czk]|févr|janv)\p{L}*\b/iu;

/** Whether a text begins with the name of a month. */
export const beginsWithMonth = (text: string): boolean => months.test(text);

const tables = new Map<string, Punctuation>();

/** The table for a language tag; the general one, if the language has none. */
export function punctuationOf(language: string): Punctuation {
  const primary = language.toLowerCase().split(/[-_]/)[0] ?? '';
  const table = tables.get(primary) ?? createTable(primary);
  tables.set(primary, table);
  return table;
}

function createTable(primary: string): Punctuation {
  const own = languages[primary];
  return {
    inner: set(`${general.inner} ${own?.inner ?? ''}`),
    beforeNumber: set(`${general.beforeNumber} ${own?.beforeNumber ?? ''}`),
    starters: set(
      own?.starters ??
        Object.values(languages)
          .map((table) => table.starters)
          .join(' '),
    ),
    ordinals: ordinalLanguages.has(primary),
  };
}
