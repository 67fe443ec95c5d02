/** Puts a copy of what a terminal shows in its place, while hundreds of thousands of lines run by behind it. Answers with how to take it away. */
export function standStill(box: HTMLElement): () => void {
  const rows = box.querySelector<HTMLElement>('.xterm-rows');
  if (!rows) return () => {};
  const picture = rows.cloneNode(true) as HTMLElement;
  picture.ariaHidden = 'true';
  Object.assign(picture.style, { position: 'absolute', inset: '0' });
  rows.after(picture);
  rows.style.visibility = 'hidden';
  return () => {
    picture.remove();
    rows.style.visibility = '';
  };
}
