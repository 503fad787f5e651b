import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: ['built', 'coverage', 'lib', 'node_modules', '**/*.js', '*.mjs']
  },
  js.configs.recommended,
  tseslint.configs.strict,
  jupyter.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      globals: globals.browser,
      parserOptions: { project: 'tsconfig.test.json' }
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      curly: ['error', 'all'],
      eqeqeq: 'error',
      'max-lines': ['error', 250],
      'no-console': ['error', { allow: ['warn', 'error'] }],
      // All of ours together is smaller than one request for a part of it is slow.
      'jupyter/prefer-lazy-imports': 'off',
      'prefer-arrow-callback': 'error'
    }
  },
  {
    files: ['src/**'],
    rules: {
      // Names of our own parts of the page, too.
      'jupyter/no-untranslated-string': [
        'error',
        { checkProperties: ['text', 'means', 'done'] }
      ]
    }
  },
  prettier
);
