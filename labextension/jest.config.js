// JupyterLab's packages and some of theirs are ES modules: all are turned into what jest runs.
module.exports = {
  testEnvironment: 'jsdom',
  testMatch: ['<rootDir>/test/**/*.spec.ts', '<rootDir>/test/**/*.spec.tsx'],
  setupFiles: ['<rootDir>/test/setup.js'],
  moduleNameMapper: { '\\.(css|svg)$': '<rootDir>/test/empty.js' },
  transform: {
    '\\.(jsx?|tsx?)$': [
      '@swc/jest',
      { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }
    ]
  },
  transformIgnorePatterns: [],
  modulePathIgnorePatterns: ['<rootDir>/built', '<rootDir>/lib']
};
