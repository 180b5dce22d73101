import { type Clock, fail, systemClock, type Tool, tool } from '@antiphon/engine';
import { evaluate } from './arithmetic.js';

/** Tools for the time and for arithmetic. Their results are sentences that can be spoken. */
export function demoTools(options: { readonly clock?: Clock; readonly timeZone?: string } = {}): readonly Tool[] {
  const clock = options.clock ?? systemClock;
  return [
    tool({
      name: 'get_time',
      description: 'The date and the time of day where the user is.',
      run: () => {
        const format = new Intl.DateTimeFormat('en-US', {
          weekday: 'long',
          month: 'long',
          day: 'numeric',
          hour: 'numeric',
          minute: '2-digit',
          ...(options.timeZone === undefined ? {} : { timeZone: options.timeZone }),
        });
        const parts = Object.fromEntries(format.formatToParts(clock.wallTime()).map(({ type, value }) => [type, value]));
        return `It is ${parts.hour}:${parts.minute} ${parts.dayPeriod ?? ''} on ${parts.weekday}, ${parts.month} ${parts.day}.`.replace(
          /\s+/g,
          ' ',
        );
      },
    }),
    tool({
      name: 'calculate',
      description: 'The exact result of an arithmetic expression with + - * / ^ and brackets.',
      input: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'], additionalProperties: false },
      run: args => {
        const expression = String((args as { expression: string }).expression);
        try {
          return `The result is ${evaluate(expression)}.`;
        } catch (error) {
          return fail((error as Error).message);
        }
      },
    }),
  ];
}
