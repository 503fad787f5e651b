/**
 * What the person has set for turns: *Settings > Hermes*. It holds for all notebooks of the page.
 */

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { JSONObject, Token } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import { named } from '../names';

/** As the kernel reads them: docs/cell-protocol.md. */
const NAMES = ['model', 'mode', 'tools', 'max_steps', 'max_tokens', 'max_cost'];
/** The plugin whose schema has them. */
const ID = named('notebook');

export interface IChoices {
  /** What is set, and nothing else. */
  readonly current: JSONObject;
  /** Whether a button stands under the errors of cells. */
  readonly offersFixes: boolean;
  readonly changed: ISignal<IChoices, void>;
}

export const IChoices = new Token<IChoices>(
  'hermes-jupyter-labextension:IChoices',
  'What the person has set for turns.'
);

export class Choices implements IChoices {
  get current(): JSONObject {
    return this._current;
  }

  get offersFixes(): boolean {
    return this._offersFixes;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Take over what is set in the registry, now and whenever it changes. */
  async follow(registry: ISettingRegistry): Promise<void> {
    const settings = await registry.load(ID);
    const take = (): void => {
      const all = settings.composite as JSONObject;
      this._current = chosen(all);
      this._offersFixes = all.fix_below_errors !== false;
      this._changed.emit();
    };
    settings.changed.connect(take);
    take();
  }

  private _current: JSONObject = {};
  private _offersFixes = true;
  private readonly _changed = new Signal<this, void>(this);
}

function chosen(all: JSONObject): JSONObject {
  return Object.fromEntries(
    NAMES.map(name => [name, all[name]]).filter(([, value]) => Boolean(value))
  ) as JSONObject;
}

export const choices: JupyterFrontEndPlugin<IChoices> = {
  id: named('choices'),
  description: 'Knows what the person has set for turns.',
  autoStart: true,
  provides: IChoices,
  optional: [ISettingRegistry],
  activate: (_: JupyterFrontEnd, registry: ISettingRegistry | null) => {
    const made = new Choices();
    if (registry !== null) {
      made.follow(registry).catch(problem => {
        console.warn('hermes: the settings cannot be read', problem);
      });
    }
    return made;
  }
};
