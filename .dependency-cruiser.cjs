// The direction check: an arrow may only point at a room below, and no circle stands anywhere.
const mayImport = {
  engine: [],
  providers: ['engine'],
  voice: ['engine'],
  speech: ['voice'],
  app: ['engine', 'providers', 'voice', 'speech'],
};

const rooms = Object.keys(mayImport);

module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    ...rooms.map(room => ({
      name: `${room}-imports-down-only`,
      severity: 'error',
      from: { path: `^packages/${room}/` },
      to: { path: `^packages/(${rooms.filter(other => other !== room && !mayImport[room].includes(other)).join('|') || 'none'})/` },
    })),
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'browser-rooms-stay-browser-safe',
      comment: 'engine, providers and voice run in a browser; only testing and node/ folders may use Node.',
      severity: 'error',
      from: { path: '^packages/(engine|providers|voice)/src/', pathNot: '/(testing|node)/' },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['types', 'import', 'node', 'default'] },
  },
};
