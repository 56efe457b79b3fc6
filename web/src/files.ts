// Files in and out: opened, dropped or pasted, and saved.
import { byId } from './dom.js';

const accepted = '.txt,.text,.html,.htm,.xhtml,.md,.markdown,.srt,.vtt,text/*';

/** Calls back with each file that the reader opens, drops anywhere or pastes. */
export function takeFiles(take: (file: File) => void): void {
  const input = byId('file', HTMLInputElement);
  input.accept = accepted;
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file) take(file);
    input.value = ''; // so that the same file can be opened again
  });

  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  const book = byId('book');
  let depth = 0; // of elements that the pointer has entered
  addEventListener('dragenter', (event) => {
    if (!hasFiles(event)) return;
    depth++;
    book.classList.add('dropping');
  });
  addEventListener('dragleave', (event) => {
    if (hasFiles(event) && --depth === 0) book.classList.remove('dropping');
  });
  addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    depth = 0;
    book.classList.remove('dropping');
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    take(file);
  });
  addEventListener('paste', (event) => {
    const file = event.clipboardData?.files[0];
    if (!file || event.clipboardData.types.includes('text/plain')) return;
    event.preventDefault();
    take(file);
  });
}

/** Lets the reader choose a file. */
export function openFile(): void {
  byId('file').click();
}

/** The name for a translation: `report.md` becomes `report.de.md`, and so does `report.en.md`. */
export function translatedName(name: string, from: string, to: string): string {
  const dot = name.lastIndexOf('.');
  const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '.txt'];
  return `${base.endsWith(`.${from}`) ? base.slice(0, -from.length - 1) : base}.${to}${extension}`;
}

/** Saves a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}
