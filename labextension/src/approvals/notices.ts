/**
 * Tells of new requests where they may not be seen: in the browser's way while the page is hidden,
 * in JupyterLab's while another notebook is looked at.
 */

import { Notification as LabNotification } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';

import { IAgents, IAsked } from '../agents/agents';
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
  agents.asked.connect((_, asked) => {
    const { waiting, kernel } = asked;
    const name = agents.kernels.find(each => each.kernel === kernel)?.name ?? '';
    const text = `${name}: ${headline(waiting, trans)}`;
    if (document.hidden && permissionNow() === 'granted') {
      given.set(waiting.id, inBrowser(text, waiting.id, show));
    } else if (document.hidden || !isSeen(asked)) {
      given.set(waiting.id, inLab(text, trans, show));
    }
  });
  agents.changed.connect(() => {
    const open = new Set(
      agents.kernels
        .flatMap(({ items }) => items)
        .filter(({ outcome }) => outcome === null)
        .map(({ waiting }) => waiting.id)
    );
    for (const [id, end] of given) {
      if (!open.has(id)) {
        end();
        given.delete(id);
      }
    }
  });
}

/** Without what it asks for: others may see it, too. */
function inBrowser(text: string, id: string, show: () => void): () => void {
  const notice = new Notification('Hermes', { body: text, tag: id });
  notice.onclick = () => {
    window.focus();
    show();
    notice.close();
  };
  return () => notice.close();
}

function inLab(text: string, trans: TranslationBundle, show: () => void): () => void {
  const id = LabNotification.info(text, {
    autoClose: false,
    actions: [{ label: trans.__('Show'), callback: show }]
  });
  return () => LabNotification.dismiss(id);
}
