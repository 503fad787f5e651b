/**
 * Tells of new requests where they may not be seen: in the browser's way while the page is hidden,
 * in JupyterLab's while another notebook is looked at.
 */

import { Notification as LabNotification } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';

import { IAgents, IAsked } from '../agents/agents';
import { Waiting } from '../agents/protocol';
import { permissionNow } from './offer';
import { headline } from './words';

interface INoticeOptions {
  agents: IAgents;
  trans: TranslationBundle;
  /** Is what asks, or the panel, in sight? */
  isSeen: (asked: IAsked) => boolean;
  /** Shows the panel. */
  show: () => void;
}

/** Tell of each new request once; take it back when it is answered. */
export function giveNotices({ agents, trans, isSeen, show }: INoticeOptions): void {
  const given = new Map<string, () => void>();
  const told = new Set<string>();
  agents.asked.connect((_, asked) => {
    const { waiting, kernel } = asked;
    const of = nameOf(kernel, waiting);
    if (told.has(of)) {
      return; // the page has only lost sight of it
    }
    told.add(of);
    const name = agents.kernels.find(each => each.kernel === kernel)?.name ?? '';
    const text = `${name}: ${headline(waiting, trans)}`;
    const end =
      (document.hidden && inBrowser(text, of, show)) ||
      ((document.hidden || !isSeen(asked)) && inLab(text, trans, show));
    if (end) {
      given.set(of, end);
    }
  });
  agents.changed.connect(() => {
    const open = new Set(
      agents.kernels
        .flatMap(({ kernel, items }) => items.map(item => ({ kernel, ...item })))
        .filter(({ outcome }) => outcome === null)
        .map(({ kernel, waiting }) => nameOf(kernel, waiting))
    );
    for (const [id, end] of given) {
      if (!open.has(id)) {
        end();
        given.delete(id);
      }
    }
  });
}

function nameOf(kernel: string, { id, digest }: Waiting): string {
  return `${kernel} ${id} ${digest}`;
}

/** Without what it asks for: others may see it, too. Null if the browser does not do it. */
function inBrowser(text: string, id: string, show: () => void): (() => void) | null {
  if (permissionNow() !== 'granted') {
    return null;
  }
  const notice = noticeOf(text, id);
  if (notice === null) {
    return null;
  }
  notice.onclick = () => {
    window.focus();
    show();
    notice.close();
  };
  return () => notice.close();
}

function noticeOf(text: string, id: string): Notification | null {
  try {
    return new Notification('Hermes', { body: text, tag: id });
  } catch (problem) {
    if (problem instanceof TypeError) {
      return null; // browsers of phones have the name only
    }
    throw problem;
  }
}

function inLab(text: string, trans: TranslationBundle, show: () => void): () => void {
  const id = LabNotification.info(text, {
    autoClose: false,
    actions: [{ label: trans.__('Show'), callback: show }]
  });
  return () => LabNotification.dismiss(id);
}
