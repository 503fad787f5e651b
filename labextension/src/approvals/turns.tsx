/**
 * The turns that run now: what they do, a word to their agent, and their end.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { IKernelAgents } from '../agents/agents';
import { ITurn } from '../agents/protocol';
import { Button } from '../parts/button';
import { problem, usage } from './words';

interface IDoing {
  trans: TranslationBundle;
  /** Shows the cell. */
  show: (kernel: string, cell: string) => void;
  /** Fulfilled when the kernel has it: will this turn read it? */
  say: (kernel: string, turn: ITurn, text: string) => Promise<boolean>;
  /** Fulfilled when the kernel has heard it. */
  stop: (kernel: string, turn: ITurn) => Promise<void>;
}

interface ITurnsProps extends IDoing {
  kernels: readonly IKernelAgents[];
}

export function Turns({ kernels, ...doing }: ITurnsProps): JSX.Element | null {
  const running = kernels.flatMap(kernel => kernel.turns.map(turn => ({ kernel, turn })));
  if (running.length === 0) {
    return null;
  }
  return (
    <section className="hermes-Turns" aria-label={doing.trans.__('Running turns')}>
      <h3>{doing.trans.__('Running')}</h3>
      <ul>
        {running.map(({ kernel, turn }) => (
          <Turn
            key={`${kernel.kernel} ${turn.turn}`}
            kernel={kernel}
            turn={turn}
            {...doing}
          />
        ))}
      </ul>
    </section>
  );
}

interface ITurnProps extends IDoing {
  kernel: IKernelAgents;
  turn: ITurn;
}

function Turn({ kernel: of, turn, trans, show, say, stop }: ITurnProps): JSX.Element {
  const { kernel, name, isConnected } = of;
  const [text, setText] = React.useState('');
  const [isSending, setSending] = React.useState(false);
  const [told, setTold] = React.useState('');
  const [failed, setFailed] = React.useState('');
  const send = (sending: Promise<string>): void => {
    setSending(true);
    setTold('');
    setFailed('');
    sending
      .then(setTold, error => setFailed(problem(error, trans)))
      .finally(() => setSending(false));
  };
  const saying = async (): Promise<string> => {
    const isRead = await say(kernel, turn, text);
    setText('');
    return isRead
      ? trans.__('Said. The agent reads it at its next step.')
      : trans.__('Said, but this turn has ended: the next one reads it.');
  };
  const stopping = async (): Promise<string> => {
    await stop(kernel, turn);
    return trans.__('Stopping…');
  };
  return (
    <li>
      <button
        type="button"
        className="hermes-Link"
        title={trans.__('Show the cell')}
        onClick={() => show(kernel, turn.cell)}
      >
        {name}
      </button>
      {turn.title && <p className="hermes-Turns-title">{turn.title}</p>}
      <p className="hermes-Turns-usage">
        {turn.state === 'asking' ? `${trans.__('waits for you')} · ` : ''}
        {usage(turn, trans)}
      </p>
      <form
        className="hermes-Turns-say"
        onSubmit={event => {
          event.preventDefault();
          if (text.trim() !== '' && !isSending) {
            send(saying());
          }
        }}
      >
        <input
          aria-label={trans.__('Say something to the agent')}
          placeholder={trans.__('Say something to the agent')}
          autoComplete="off"
          value={text}
          onChange={event => setText(event.target.value)}
        />
        <button
          type="submit"
          className="hermes-Button"
          disabled={text.trim() === '' || isSending || !isConnected}
        >
          {trans.__('Say')}
        </button>
        <Button
          text={trans.__('Stop')}
          isDisabled={isSending || !isConnected}
          click={() => send(stopping())}
        />
      </form>
      {told && (
        <p role="status" className="hermes-Turns-told">
          {told}
        </p>
      )}
      {failed && (
        <p role="alert" className="hermes-Card-failed">
          {failed}
        </p>
      )}
    </li>
  );
}
