/**
 * Names that JupyterLab knows us by.
 */

const PACKAGE = 'hermes-jupyter-labextension';

/** The domain of our translations: letters, digits, underscores. */
export const DOMAIN = 'hermes_jupyter';

/** The id of a plugin. */
export function named(plugin: string): string {
  return `${PACKAGE}:${plugin}`;
}
