import { escapeHtml } from './escape.ts';

/** HTML that is already safe: made by this folder from escaped text, never from logged text itself. */
export interface Html {
  readonly html: string;
}

export const html = (text: string): Html => ({ html: text });

/** A cell or paragraph: text is escaped, Html is taken as it is. */
export const render = (part: string | Html): string =>
  typeof part === 'string' ? escapeHtml(part) : part.html;

export const paragraph = (part: string | Html, kind = ''): Html =>
  html(`<p${kind ? ` class="${kind}"` : ''}>${render(part)}</p>`);

export const heading = (level: 2 | 3, text: string, id?: string): Html =>
  html(`<h${level}${id ? ` id="${escapeHtml(id)}"` : ''}>${escapeHtml(text)}</h${level}>`);

export const list = (items: readonly (string | Html)[]): Html =>
  html(items.length === 0 ? '' : `<ul>${items.map((i) => `<li>${render(i)}</li>`).join('')}</ul>`);

/**
 * A table; columns named in `numeric` are set to the right and not broken. `wide`: smaller type, for many
 * columns; `grey`: rows to be passed over, by their place.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
  numeric: readonly string[] = [],
  look: { readonly wide?: boolean; readonly grey?: (row: number) => boolean } = {},
): Html {
  const right = head.map((name) => (numeric.includes(name) ? ' class="n"' : ''));
  const cells = (tag: 'th' | 'td', row: readonly (string | Html)[], grey = false) =>
    `<tr${grey ? ' class="grey"' : ''}>${row.map((cell, i) => `<${tag}${right[i]}>${render(cell)}</${tag}>`).join('')}</tr>`;
  return html(
    `<div class="scroll"><table${look.wide ? ' class="wide"' : ''}><thead>${cells('th', head)}</thead><tbody>${rows
      .map((row, i) => cells('td', row, look.grey?.(i)))
      .join('')}</tbody></table></div>`,
  );
}

/** A figure with its caption; what the figure rests on belongs in the caption. */
export const figure = (svg: Html, caption: string): Html =>
  html(`<figure>${svg.html}<figcaption>${escapeHtml(caption)}</figcaption></figure>`);

const STYLE = `
:root{color-scheme:light;--ink:#1b1f24;--soft:#59636e;--line:#d8dee4;--panel:#f6f8fa;--good:#1a7f37;--warn:#9a6700;--bad:#cf222e}
body{font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);max-width:60rem;margin:2rem auto;padding:0 1.25rem;background:#fff}
h1{font-size:1.7rem;margin:0 0 .25rem}h2{font-size:1.25rem;margin:2.4rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}h3{font-size:1.02rem;margin:1.6rem 0 .4rem}
p{margin:.5rem 0}.note,figcaption{color:var(--soft);font-size:.87rem}.lead{font-size:1.05rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;margin:.6rem 0;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.28rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}th{font-weight:600;background:var(--panel)}.n{text-align:right}td.n{white-space:nowrap}td{overflow-wrap:break-word}.wide{font-size:.8rem;line-height:1.4}.wide th,.wide td{padding:.22rem .42rem}.grey td{color:var(--soft)}.act{display:block;min-width:11rem;overflow-wrap:anywhere}td.k{white-space:nowrap}
figure{margin:1rem 0}figure svg{max-width:100%;height:auto}
.supported{color:var(--good);font-weight:600}.weak{color:var(--warn);font-weight:600}.refused{color:var(--bad);font-weight:600}
code,.text{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.86rem}.text{white-space:pre-wrap;overflow-wrap:anywhere}
.warning{border-left:3px solid var(--warn);padding:.2rem .7rem;background:#fff8e5}.warning ul{margin:.2rem 0;padding-left:1.2rem}.summary{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.3rem 1rem .5rem;margin:1rem 0}.summary ul{margin:.3rem 0;padding-left:1.2rem}.error{border-left:3px solid var(--bad);padding:.2rem .7rem;background:#fff0f0}
nav a{margin-right:1rem}
`;

/** One self-contained page: inline style and SVG, no scripts, nothing loaded from anywhere. */
export function page(title: string, parts: readonly Html[]): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1>
${parts.map((p) => p.html).join('\n')}
</body></html>
`;
}
