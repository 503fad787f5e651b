/**
 * What the model said, drawn by the page's own renderer of Markdown once it comes into view.
 */

import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IRenderMime } from '@jupyterlab/rendermime-interfaces';

import { element } from './elements';
import { inert, quiet } from './inert';

const MARKDOWN = 'text/markdown';
/** Beyond the edge of the page, so that a reader who scrolls sees it done. */
const MARGIN = '600px';

export class Prose {
  constructor(rendermime: IRenderMimeRegistry, options: IRenderMime.IRendererOptions) {
    this._rendermime = rendermime;
    this._options = options;
    this._observer =
      typeof IntersectionObserver === 'undefined'
        ? null
        : new IntersectionObserver(seen => this._see(seen), { rootMargin: MARGIN });
  }

  /** The text as it stands, and soon as it is meant. */
  draw(text: string, ...classes: string[]): HTMLElement {
    const node = element('div', 'hermes-text', 'hermes-unformatted', ...classes);
    node.textContent = text;
    this._texts.set(node, text);
    if (this._observer === null) {
      void this._format(node);
    } else {
      this._observer.observe(node);
    }
    return node;
  }

  dispose(): void {
    this._observer?.disconnect();
    this._renderers.forEach(renderer => renderer.dispose());
    this._renderers = [];
  }

  private _see(seen: IntersectionObserverEntry[]): void {
    seen
      .filter(({ isIntersecting }) => isIntersecting)
      .forEach(({ target }) => {
        this._observer?.unobserve(target);
        void this._format(target as HTMLElement);
      });
  }

  private async _format(node: HTMLElement): Promise<void> {
    const factory = this._rendermime.getFactory(MARKDOWN);
    if (factory === undefined) {
      return;
    }
    const { sanitizer, latexTypesetter } = this._options;
    const renderer = factory.createRenderer({
      ...this._options,
      mimeType: MARKDOWN,
      sanitizer: quiet(sanitizer)
    });
    this._renderers.push(renderer);
    const data = { [MARKDOWN]: inert(this._texts.get(node) ?? '') };
    await renderer.renderModel(this._rendermime.createModel({ data, trusted: false }));
    if (renderer.isDisposed) {
      return;
    }
    node.classList.remove('hermes-unformatted');
    node.replaceChildren(renderer.node);
    await latexTypesetter?.typeset(renderer.node);
  }

  private readonly _rendermime: IRenderMimeRegistry;
  private readonly _options: IRenderMime.IRendererOptions;
  private readonly _observer: IntersectionObserver | null;
  private readonly _texts = new WeakMap<HTMLElement, string>();
  private _renderers: IRenderMime.IRenderer[] = [];
}
