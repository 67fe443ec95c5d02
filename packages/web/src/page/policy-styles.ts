/**
 * Lets xterm.js 6 style itself under `style-src 'self'`. It writes style elements and style attributes, which the
 * policy refuses; the same rules as constructed sheets and through the style object are scripts' own and allowed.
 */
export function keepStylesWithinPolicy(): void {
  const sheets = new WeakMap<HTMLStyleElement, CSSStyleSheet>();
  const { remove, setAttribute } = Element.prototype;
  Object.defineProperties(HTMLStyleElement.prototype, {
    textContent: {
      configurable: true,
      set(this: HTMLStyleElement, css: string) {
        const sheet = sheets.get(this) ?? new CSSStyleSheet();
        if (!sheets.has(this)) document.adoptedStyleSheets.push(sheet);
        sheets.set(this, sheet);
        sheet.replaceSync(css);
      },
    },
    remove: {
      configurable: true,
      value(this: HTMLStyleElement) {
        const sheet = sheets.get(this);
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
        remove.call(this);
      },
    },
  });
  HTMLSpanElement.prototype.setAttribute = function (name: string, value: string): void {
    if (name === 'style') this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}
