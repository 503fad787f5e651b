// What jsdom lacks of a browser and JupyterLab's packages expect when they are imported.
const { TextDecoder, TextEncoder } = require('node:util');
const { webcrypto } = require('node:crypto');

Object.assign(globalThis, { TextDecoder, TextEncoder });
Object.defineProperty(globalThis, 'crypto', { value: webcrypto });
globalThis.DragEvent ??= class DragEvent extends Event {};
class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}
globalThis.ResizeObserver ??= Observer;
globalThis.IntersectionObserver ??= Observer;
window.requestIdleCallback ??= callback => setTimeout(callback, 0);
window.cancelIdleCallback ??= clearTimeout;
window.matchMedia ??= () => ({ matches: false, addListener() {}, addEventListener() {} });
globalThis.requestIdleCallback ??= work => setTimeout(work);
globalThis.cancelIdleCallback ??= handle => clearTimeout(handle);
