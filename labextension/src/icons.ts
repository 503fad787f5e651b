/**
 * Our icons.
 */

import { LabIcon } from '@jupyterlab/ui-components';

import askSvg from '../style/icons/ask.svg';
import fixSvg from '../style/icons/fix.svg';
import promptSvg from '../style/icons/prompt.svg';

export const askIcon = new LabIcon({ name: 'hermes-jupyter:ask', svgstr: askSvg });
export const fixIcon = new LabIcon({ name: 'hermes-jupyter:fix', svgstr: fixSvg });
export const promptIcon = new LabIcon({ name: 'hermes-jupyter:prompt', svgstr: promptSvg });
