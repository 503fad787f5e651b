/**
 * A button with text, and a line that says what it means where that is not plain.
 */

import * as React from 'react';

interface IButtonProps {
  text: string;
  look?: 'accept' | 'reject';
  /** What else it does, in a line of its own. */
  means?: string;
  isDisabled?: boolean;
  click: () => void;
}

export function Button(props: IButtonProps): JSX.Element {
  const { text, look, means, isDisabled, click } = props;
  const name = React.useId();
  return (
    <span className={means ? 'hermes-Choice hermes-mod-wide' : 'hermes-Choice'}>
      <button
        type="button"
        className={`hermes-Button${look ? ` hermes-mod-${look}` : ''}`}
        aria-describedby={means ? name : undefined}
        disabled={isDisabled}
        onClick={click}
      >
        {text}
      </button>
      {means && (
        <span id={name} className="hermes-Choice-means">
          {means}
        </span>
      )}
    </span>
  );
}
