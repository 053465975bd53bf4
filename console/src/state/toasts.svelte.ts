import type { OnProgress, Report } from "../api/changes";

/** Undo takes back what was done. What it returns, if anything, counts the memories that it could not change. */
export type Undo = (onProgress: OnProgress) => void | Promise<void | Report>;

interface Toast {
  id: number;
  text: string;
  undo?: Undo;
  share?: number; // of what is being done that is done, from 0 to 1; such a toast stays until it is hidden
}

const shownFor = 10_000; // milliseconds

/** Toasts are short reports of what was done, some of which can be undone. */
class Toasts {
  list = $state<Toast[]>([]);
  private made = 0;

  show(text: string, undo?: Undo): void {
    const id = ++this.made;
    this.list.push({ id, text, undo });
    setTimeout(() => this.hide(id), shownFor);
  }

  /** begin shows that something goes on, and returns what sets how far it has come and what hides it. */
  begin(text: string): { onProgress: OnProgress; end: () => void } {
    const id = ++this.made;
    this.list.push({ id, text, share: 0 });
    const toast = this.list.at(-1)!; // the state, which is not the object above
    return { onProgress: (through, all) => (toast.share = through / all), end: () => this.hide(id) };
  }

  hide(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
