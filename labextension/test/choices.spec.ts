import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { Choices } from '../src/choices';

test('only what is set is told, and told again when it changes', async () => {
  const composite: JSONObject = { model: '', mode: 'plan', max_steps: 0, max_cost: 0.5 };
  const changed = new Signal<object, void>({});
  const registry = { load: () => Promise.resolve({ composite, changed }) };
  const choices = new Choices();
  const told: JSONObject[] = [];
  choices.changed.connect(() => told.push(choices.current));
  await choices.follow(registry as unknown as ISettingRegistry);
  expect(choices.offersFixes).toBe(true);
  Object.assign(composite, { mode: '', model: 'big', fix_below_errors: false });
  changed.emit();
  expect(told).toEqual([
    { mode: 'plan', max_cost: 0.5 },
    { model: 'big', max_cost: 0.5 }
  ]);
  expect(choices.offersFixes).toBe(false);
});
