/**
 * A call that waits: what it is, and the buttons.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { IMore } from '../agents/agents';
import { Choice, IApproval } from '../agents/protocol';
import { Button } from '../parts/button';
import { DiffLines, linesOf } from '../parts/diff';
import { Listing } from '../parts/listing';
import { Effects } from './effects';
import { Frame, IFrameProps } from './frame';
import { whereabouts } from './words';

interface ICardProps extends Omit<IFrameProps, 'waiting' | 'children'> {
  approval: IApproval;
  /** Fulfilled when the kernel has taken the answer. */
  answer: (choice: Choice, more?: IMore) => Promise<void>;
}

export function Card({ approval, answer, ...frame }: ICardProps): JSX.Element {
  const { trans } = frame;
  return (
    <Frame waiting={approval} {...frame}>
      {send => (
        <>
          <Facts approval={approval} trans={trans} />
          <Buttons
            approval={approval}
            trans={trans}
            answer={(choice, more) => send(() => answer(choice, more))}
          />
        </>
      )}
    </Frame>
  );
}

interface IPartProps {
  approval: IApproval;
  trans: TranslationBundle;
}

function Facts({ approval, trans }: IPartProps): JSX.Element {
  const { what, diff, reasons, purpose } = approval;
  const where = whereabouts(approval, trans);
  return (
    <>
      {purpose && <p className="hermes-Card-purpose">{purpose}</p>}
      {reasons.map(reason => (
        <p key={reason} className="hermes-Card-reason">
          {reason}
        </p>
      ))}
      <Listing
        className={`hermes-Card-what${diff ? ' hermes-mod-brief' : ''}`}
        label={trans.__('What would be done')}
        lines={diff ? undefined : linesOf(what).length}
        trans={trans}
      >
        {what}
      </Listing>
      {diff && (
        <Listing
          className="hermes-Diff"
          label={trans.__('What would change')}
          lines={linesOf(diff).length}
          trans={trans}
        >
          <DiffLines text={diff} />
        </Listing>
      )}
      <Effects approval={approval} trans={trans} />
      {where && <p className="hermes-Card-where">{trans.__('In %1', where)}</p>}
    </>
  );
}

interface IButtonsProps extends IPartProps {
  answer: (choice: Choice, more?: IMore) => void;
}

function Buttons({ approval, trans, answer }: IButtonsProps): JSX.Element {
  const [writing, setWriting] = React.useState<'note' | 'edit' | null>(null);
  if (writing === 'edit') {
    return (
      <Writing
        label={trans.__('Run this instead')}
        start={approval.edit?.text ?? ''}
        done={trans.__('Run it')}
        trans={trans}
        close={() => setWriting(null)}
        send={edited => answer('once', { edited })}
      />
    );
  }
  if (writing === 'note') {
    return (
      <Writing
        label={trans.__('Why not, and what to do instead')}
        start=""
        done={trans.__('Deny')}
        trans={trans}
        close={() => setWriting(null)}
        send={note => answer('deny', { note })}
      />
    );
  }
  const { choices, grant, rule, edit } = approval;
  const offers = (choice: string): boolean => choices.includes(choice);
  return (
    <div className="hermes-Card-buttons">
      {offers('once') && (
        <Button look="accept" text={trans.__('Allow once')} click={() => answer('once')} />
      )}
      {offers('deny') && (
        <Button look="reject" text={trans.__('Deny')} click={() => answer('deny')} />
      )}
      {offers('edit') && edit && (
        <Button text={trans.__('Edit…')} click={() => setWriting('edit')} />
      )}
      {offers('deny') && (
        <Button text={trans.__('Deny with a note…')} click={() => setWriting('note')} />
      )}
      {offers('session') && (
        <Button
          text={trans.__('Allow for this session')}
          means={grant}
          click={() => answer('session')}
        />
      )}
      {offers('always') && (
        <Button
          text={trans.__('Always allow')}
          means={rule}
          click={() => answer('always')}
        />
      )}
    </div>
  );
}

/** A line as wide as the panel at first. */
const LINE_CHARS = 28;
const MOST_ROWS = 10;

/** So that what is edited is seen, also a single long line. */
function rowsOf(text: string): number {
  const lines = linesOf(text).map(line => 1 + Math.floor(line.length / LINE_CHARS));
  return Math.min(
    MOST_ROWS,
    lines.reduce((sum, rows) => sum + rows, 1)
  );
}

interface IWritingProps {
  label: string;
  start: string;
  done: string;
  trans: TranslationBundle;
  close: () => void;
  send: (text: string) => void;
}

function Writing({ label, start, done, trans, close, send }: IWritingProps): JSX.Element {
  const [text, setText] = React.useState(start);
  const field = React.useRef<HTMLTextAreaElement>(null);
  React.useEffect(() => field.current?.focus(), []);
  const back = (): void => {
    field.current?.closest<HTMLElement>('.hermes-Card')?.focus();
    close();
  };
  return (
    <form
      className="hermes-Writing"
      onSubmit={event => {
        event.preventDefault();
        send(text);
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          back();
        }
      }}
    >
      <label>
        {label}
        <textarea
          ref={field}
          value={text}
          rows={rowsOf(text)}
          spellCheck={false}
          onChange={event => setText(event.target.value)}
        />
      </label>
      <div className="hermes-Card-buttons">
        <button type="submit" className="hermes-Button">
          {done}
        </button>
        <Button text={trans.__('Back')} click={back} />
      </div>
    </form>
  );
}
