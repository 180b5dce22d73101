/** What the user says where a history begins with the model, as one that was trimmed does, and the target wants a user before it. */
export const BEGINNING = '[The conversation begins.]';
