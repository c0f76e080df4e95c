import { escapeHtml, visibleText } from './escape.ts';

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

export const heading = (level: 2 | 3, text: string | Html, id?: string): Html =>
  html(`<h${level}${id ? ` id="${escapeHtml(id)}"` : ''}>${render(text)}</h${level}>`);

/** A text of HTML as a reader sees it, for a terminal or a name. */
export const textOf = (part: string | Html): string =>
  typeof part === 'string' ? part : visibleText(part.html);

export const list = (items: readonly (string | Html)[]): Html =>
  html(items.length === 0 ? '' : `<ul>${items.map((i) => `<li>${render(i)}</li>`).join('')}</ul>`);

/**
 * A table; columns named in `numeric` are set to the right and not broken. `wide`: smaller type, for many
 * columns; `grey`: rows to be passed over, by their place; `stack`: on a narrow screen each row becomes a list of its
 * cells, each with the name of its column.
 */
export function table(
  head: readonly (string | Html)[],
  rows: readonly (readonly (string | Html)[])[],
  numeric: readonly string[] = [],
  look: { readonly wide?: boolean; readonly stack?: boolean; readonly grey?: (row: number) => boolean } = {},
): Html {
  const names = head.map(textOf);
  const right = names.map((name) => (numeric.includes(name) ? ' class="n"' : ''));
  const named = names.map((name) => (look.stack ? ` data-label="${escapeHtml(name)}"` : ''));
  const cells = (tag: 'th' | 'td', row: readonly (string | Html)[], grey = false) =>
    `<tr${grey ? ' class="grey"' : ''}>${row.map((cell, i) => `<${tag}${right[i]}${tag === 'td' ? named[i] : ''}>${render(cell)}</${tag}>`).join('')}</tr>`;
  const kinds = [look.wide ? 'wide' : '', look.stack ? 'stack' : ''].filter(Boolean).join(' ');
  return html(
    `<div class="scroll" tabindex="0" role="group" aria-label="${escapeHtml(`Table: ${names.filter(Boolean).join(', ')}`)}"><table${kinds ? ` class="${kinds}"` : ''}><thead>${cells('th', head)}</thead><tbody>${rows
      .map((row, i) => cells('td', row, look.grey?.(i)))
      .join('')}</tbody></table></div>`,
  );
}

/** A figure with its caption, which is its name to a screen reader too; what the figure rests on belongs in it. */
export const figure = (svg: Html, caption: string | Html): Html => {
  const text = escapeHtml(textOf(caption));
  const named = svg.html.replaceAll('role="img"', () => `role="img" aria-label="${text}"`);
  return html(
    `<figure><div class="scroll" tabindex="0" role="group" aria-label="Figure">${named}</div><figcaption>${render(caption)}</figcaption></figure>`,
  );
};

/** Parts folded under a line of their own; open on paper. */
export const details = (summary: string, parts: readonly Html[]): Html[] => [
  html(`<details><summary>${escapeHtml(summary)}</summary>${parts.map((p) => p.html).join('\n')}</details>`),
];

const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#59636e;--line:#d8dee4;--panel:#f6f8fa;--good:#1a7f37;--warn:#7d5200;--bad:#b81a26;--fig:#1f6feb;--warm:#a84300;--violet:#7440c4;--link:#0a58ca;--warnpanel:#fff8e5;--badpanel:#fff0f0}
@media (prefers-color-scheme:dark){:root{--paper:#0f1318;--ink:#e4e8ed;--soft:#a3adb8;--line:#343c46;--panel:#1a2028;--good:#56d364;--warn:#e3b341;--bad:#ff8b84;--fig:#6cb0ff;--warm:#ffa657;--violet:#d2a8ff;--link:#7ab8ff;--warnpanel:#2b2410;--badpanel:#331a1c}}
*{box-sizing:border-box}
body{font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);max-width:60rem;margin:2rem auto;padding:0 1.25rem;background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .25rem}h2{font-size:1.25rem;margin:2.4rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}h3{font-size:1.02rem;margin:1.6rem 0 .4rem}
a{color:var(--link)}p{margin:.5rem 0}.note,figcaption{color:var(--soft);font-size:.87rem}.lead{font-size:1.05rem}
.scroll{overflow-x:auto;max-width:100%}table{border-collapse:collapse;margin:.6rem 0;font-variant-numeric:tabular-nums;font-size:.92rem;overflow-wrap:break-word}
th,td{padding:.28rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}th{font-weight:600;background:var(--panel)}.n{text-align:right}td.n{white-space:nowrap}td{overflow-wrap:break-word}.wide{font-size:.8rem;line-height:1.4}.wide th,.wide td{padding:.22rem .42rem}.grey td{color:var(--soft)}.act{display:block;min-width:11rem;overflow-wrap:anywhere}td.k,.iv{white-space:nowrap}
figure{margin:1rem 0}figure svg{max-width:100%;height:auto;color:var(--ink);background:none}.narrow{display:none}@media screen and (max-width:40rem){.broad{display:none}.narrow{display:block}}
.supported{color:var(--good);font-weight:600}.weak{color:var(--warn);font-weight:600}.refused{color:var(--bad);font-weight:600}.supported,.weak,.refused{white-space:nowrap}
code,.text{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.86rem}.text{white-space:pre-wrap;overflow-wrap:anywhere}
.warning{border-left:3px solid var(--warn);padding:.2rem .7rem;background:var(--warnpanel)}.warning ul{margin:.2rem 0;padding-left:1.2rem}.summary{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.3rem 1rem .5rem;margin:1rem 0}.summary ul,.answers{margin:.3rem 0;padding-left:1.2rem}.answers{font-size:1.05rem}.error{border-left:3px solid var(--bad);padding:.2rem .7rem;background:var(--badpanel)}.simulated{font-weight:600;border:1px dashed var(--soft);border-radius:6px;padding:.3rem .8rem}.sentence::first-letter,.simulated::first-letter{text-transform:uppercase}
details{margin:.7rem 0;border:1px solid var(--line);border-radius:6px;padding:.35rem .8rem}summary{cursor:pointer;font-weight:600}
nav a{margin-right:1rem;display:inline-block}.said{margin:.1rem 0 .3rem}.said b{font-weight:600}.turns{padding-left:1.4rem}.turns>li{margin:.7rem 0}
@media screen and (max-width:30rem){body{margin:1rem auto;padding:0 .8rem}.act{min-width:8rem}th,td{padding:.25rem .4rem}table{font-size:.85rem}.stack,.stack tbody{display:block}.stack thead{display:none}.stack tr{display:block;border-bottom:2px solid var(--line);padding:.3rem 0}.stack td{display:flow-root;border:0;text-align:right}.stack td.n{white-space:normal}.stack td::before{content:attr(data-label);color:var(--soft);float:left;margin-right:.6rem}.stack td:empty{display:none}.stack td:first-child{text-align:left;font-weight:600}.stack td:first-child::before{float:none;font-weight:400;margin-right:.4rem}.stack .act{text-align:left;clear:both}.wide.stack tr{display:flex;flex-direction:column}.wide.stack td:first-child{order:-2}.wide.stack td:last-child{order:-1}.wide.stack td:last-child::before{content:none}}
@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--panel:#f3f3f3;--good:#14602a;--warn:#6b4600;--bad:#9c1420;--fig:#1f5fc4;--warm:#8f3900;--violet:#5d30a6;--link:#000;--warnpanel:#fff;--badpanel:#fff}body{max-width:none;margin:0;font-size:10.5pt}nav{display:none}.scroll{overflow:visible}td.n{white-space:normal}table,.wide{font-size:8pt}th,td,.wide th,.wide td{padding:.15rem .25rem}.act{min-width:0}figure,tr,li{break-inside:avoid}h2,h3{break-after:avoid}figure svg{min-width:0}details{border:0;padding:0}details::details-content{content-visibility:visible;display:block}details:not([open])>*{display:block}}
`;

/** One self-contained page: inline style and SVG, no scripts, nothing loaded from anywhere. */
export function page(title: string, parts: readonly Html[]): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>
<h1>${escapeHtml(title)}</h1>
${parts.map((p) => p.html).join('\n')}
</main></body></html>
`;
}
