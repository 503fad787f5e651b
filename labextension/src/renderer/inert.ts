/**
 * Markdown of a model, made so that the page's own renderer cannot be used against its reader:
 * raw HTML becomes text, and nothing is loaded. An image would tell its server who reads the
 * notebook, so it becomes a link. The kernel does the same, in hermes_jupyter/views/markdown.py.
 */

import { IRenderMime } from '@jupyterlab/rendermime-interfaces';

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const CODE_SPAN = /(?<![`\\])(`[^`]+`|``[^`]+``)(?!`)/;
const ACTIVE = /<(?=[A-Za-z/!?])/g;
const LOADING = ['src', 'srcset', 'poster', 'background', 'data', 'href'];

/**
 * Markdown whose raw HTML and images are switched off, code left as it is.
 *
 * Where in doubt whether something is code, it is not.
 */
export function inert(markdown: string): string {
  let fence: { mark: string; indent: number } | null = null;
  return markdown
    .split('\n')
    .map(line => {
      if (fence !== null) {
        const isClosing = closes(line, fence.mark);
        const isShallower =
          line.trim() !== '' && line.length - line.trimStart().length < fence.indent;
        if (!isClosing && !isShallower) {
          return line;
        }
        fence = null;
        if (isClosing) {
          return line;
        }
      }
      const opened = FENCE.exec(line);
      if (opened === null) {
        return withoutMarkup(line);
      }
      fence = { mark: opened[2], indent: opened[1].length };
      return opened[1] + opened[2] + opened[3].replace(ACTIVE, '&lt;');
    })
    .join('\n');
}

function closes(line: string, mark: string): boolean {
  const bare = line.trim();
  return bare.length >= mark.length && bare === mark[0].repeat(bare.length);
}

function withoutMarkup(line: string): string {
  return line
    .split(CODE_SPAN)
    .map((part, number) =>
      number % 2 === 1 ? part : part.replace(/!\[/g, '!\\[').replace(ACTIVE, '&lt;')
    )
    .join('');
}

/** A sanitizer of which nothing comes that loads anything, or that is louder than the notebook. */
export function quiet(sanitizer: IRenderMime.ISanitizer): IRenderMime.ISanitizer {
  return {
    sanitize: (dirty, options) => quieted(sanitizer.sanitize(dirty, options)),
    getAutolink: () => sanitizer.getAutolink?.() ?? true,
    allowNamedProperties: false,
    allowCommandLinker: false
  };
}

function quieted(html: string): string {
  // What is parsed into a document of its own loads nothing.
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  body.querySelectorAll('*').forEach(element => {
    element.removeAttribute('style');
    [...element.attributes]
      .filter(({ name }) => name.startsWith('data-commandlinker'))
      .forEach(({ name }) => element.removeAttribute(name));
    if (!(element instanceof HTMLAnchorElement)) {
      LOADING.forEach(name => element.removeAttribute(name));
    }
  });
  body
    .querySelectorAll('img, picture, video, audio, object, form, style')
    .forEach(element => {
      element.replaceWith(element.getAttribute('alt') ?? '');
    });
  // One level down: the notebook's own headings stay above those of an answer.
  body.querySelectorAll('h1, h2, h3, h4, h5').forEach(heading => {
    const lower = body.ownerDocument.createElement(`h${Number(heading.tagName[1]) + 1}`);
    lower.append(...heading.childNodes);
    heading.replaceWith(lower);
  });
  return body.innerHTML;
}
