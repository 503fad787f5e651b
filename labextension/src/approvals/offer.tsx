/**
 * Asks whether the browser may notify, once somebody looks at the panel.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

export function OfferNotices({ trans }: { trans: TranslationBundle }): JSX.Element | null {
  const [permission, setPermission] = React.useState(permissionNow());
  if (permission !== 'default') {
    return null;
  }
  const ask = (): void => {
    Notification.requestPermission().then(setPermission, () => setPermission('denied'));
  };
  return (
    <p className="hermes-Panel-offer">
      <button type="button" className="hermes-Link" onClick={ask}>
        {trans.__('Notify me when this page is hidden')}
      </button>
    </p>
  );
}

/** Browsers have notifications over https and on this machine only. */
export function permissionNow(): NotificationPermission {
  return window.isSecureContext && 'Notification' in window
    ? Notification.permission
    : 'denied';
}
