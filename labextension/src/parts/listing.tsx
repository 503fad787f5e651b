/**
 * Text that a person has to read before deciding. What does not fit is scrolled to, and that is said.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

interface IListingProps {
  /** For those who do not see it. */
  label: string;
  className: string;
  /** How many there are; what is told elsewhere in full need not say it. */
  lines?: number;
  trans: TranslationBundle;
  children: React.ReactNode;
}

export function Listing(props: IListingProps): JSX.Element {
  const { label, className, lines, trans, children } = props;
  const block = React.useRef<HTMLPreElement>(null);
  const [isCut, setCut] = React.useState(false);
  React.useLayoutEffect(() => {
    const { current } = block;
    setCut(current !== null && current.scrollHeight > current.clientHeight + 1);
  });
  return (
    <>
      <pre ref={block} className={className} tabIndex={0} role="group" aria-label={label}>
        {children}
      </pre>
      {isCut && lines !== undefined && (
        <p className="hermes-Card-length">
          {lines > 1
            ? trans.__('%1 lines; scroll to read all', lines)
            : trans.__('A long line; scroll to read all')}
        </p>
      )}
    </>
  );
}
