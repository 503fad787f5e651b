/**
 * A line above a cell that the agent has changed: shows how, and asks whether it stays.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Button } from '../parts/button';
import { Diff } from '../parts/diff';
import { Changes } from './changes';
import { lineDiff } from './lineDiff';

export class ChangeBar extends ReactWidget {
  constructor(
    readonly cell: string,
    private readonly changes: Changes,
    private readonly trans: TranslationBundle
  ) {
    super();
    this.addClass('hermes-ChangeBar');
  }

  protected render(): JSX.Element | null {
    const { cell, changes, trans } = this;
    const entry = changes.cells.get(cell);
    return entry ? (
      <Bar
        text={
          entry.before === null
            ? trans.__('Added by Hermes')
            : trans.__('Changed by Hermes')
        }
        diff={entry.before === null ? '' : lineDiff(entry.before, entry.after)}
        undo={entry.before === null ? trans.__('Remove') : trans.__('Put back')}
        isAsLeft={changes.isAsLeft(cell)}
        trans={trans}
        keep={() => changes.keep(cell)}
        putBack={() => changes.putBack(cell)}
      />
    ) : null;
  }
}

interface IBarProps {
  text: string;
  diff: string;
  /** What putting it back is called here. */
  undo: string;
  isAsLeft: boolean;
  trans: TranslationBundle;
  keep: () => void;
  putBack: () => void;
}

function Bar(props: IBarProps): JSX.Element {
  const { text, diff, undo, isAsLeft, trans, keep, putBack } = props;
  const [isOpen, setOpen] = React.useState(false);
  return (
    <div role="group" aria-label={text}>
      <div className="hermes-ChangeBar-line">
        <span>{text}</span>
        {diff && (
          <button
            type="button"
            className="hermes-Button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? trans.__('Hide the difference') : trans.__('Show the difference')}
          </button>
        )}
        <Button text={trans.__('Keep')} click={keep} />
        {isAsLeft ? (
          <Button text={undo} click={putBack} />
        ) : (
          <span>{trans.__('and by you since')}</span>
        )}
      </div>
      {isOpen && <Diff text={diff} />}
    </div>
  );
}
