// What the server and the measuring process agree on.

/** What growing JSON comes to, in `count` deltas of about five characters. */
export const growingDocument = count => ({
  items: Array.from({ length: Math.round(count / 6) }, (_, i) => ({ id: i, name: `item ${i}` })),
});

/** Microseconds of a clock that all processes of a machine share. */
export const micros = () => Number(process.hrtime.bigint() / 1000n);
