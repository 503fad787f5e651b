/**
 * A question of the model, or for a password.
 */

import * as React from 'react';

import { IQuestion } from '../agents/protocol';
import { Button } from '../parts/button';
import { Frame, IFrameProps } from './frame';

interface IQuestionProps extends Omit<IFrameProps, 'waiting' | 'children'> {
  question: IQuestion;
  /** Fulfilled when the kernel has taken the answer. */
  reply: (text: string | null) => Promise<void>;
}

export function Question({ question, reply, ...frame }: IQuestionProps): JSX.Element {
  const { trans } = frame;
  const [text, setText] = React.useState('');
  return (
    <Frame waiting={question} {...frame}>
      {send => (
        <form
          className="hermes-Writing"
          onSubmit={event => {
            event.preventDefault();
            send(() => reply(text));
          }}
        >
          <p className="hermes-Question">{question.text}</p>
          <div className="hermes-Card-buttons">
            {question.options.map(option => (
              <Button key={option} text={option} click={() => send(() => reply(option))} />
            ))}
          </div>
          <label>
            {question.options.length > 0
              ? trans.__('Or in your words')
              : trans.__('Your answer')}
            <input
              type={question.isSecret ? 'password' : 'text'}
              autoComplete="off"
              value={text}
              onChange={event => setText(event.target.value)}
            />
          </label>
          <div className="hermes-Card-buttons">
            <button type="submit" className="hermes-Button" disabled={text === ''}>
              {trans.__('Send')}
            </button>
            <Button text={trans.__('No answer')} click={() => send(() => reply(null))} />
          </div>
        </form>
      )}
    </Frame>
  );
}
