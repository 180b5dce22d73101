/** Prints rows of cells, the first of which is the head: the first column to the left, the others to the right. */
export function printTable(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map(row => String(row[i]).length)));
  for (const row of rows)
    console.log(row.map((cell, i) => (i === 0 ? String(cell).padEnd(widths[i]) : String(cell).padStart(widths[i]))).join('  '));
  console.log();
}

/** The same from objects: columns are a head and a function of the object. */
export function printColumns(columns, objects) {
  printTable([columns.map(([head]) => head), ...objects.map(object => columns.map(([, of]) => of(object)))]);
}

/** The middle one. */
export const median = numbers => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
