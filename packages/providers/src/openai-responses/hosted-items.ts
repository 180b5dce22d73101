/** Items that are told by their own events or need no words: they are kept for the next request. */
export const HOSTED: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_call',
  'tool_search_output',
  'program',
  'program_output',
  'shell_call',
  'shell_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'computer_call',
  'computer_call_output',
  'function_call_output',
  'custom_tool_call_output',
  'compaction',
  'x_search_call',
  'code_execution_call',
  'view_image_call',
  'view_x_video_call',
  // Only of servers that call their own tools so: a caller's own tool gets a call.
  'custom_tool_call',
  'search_results',
]);

/** Calls of built-in tools that the caller has to run, and the kind of item that answers them. */
const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['computer_call', 'computer_call_output'],
  ['local_shell_call', 'local_shell_call_output'],
  ['shell_call', 'shell_call_output'],
  ['apply_patch_call', 'apply_patch_call_output'],
  ['tool_search_call', 'tool_search_output'],
]);

/** Says what the caller has to send for this item before the model can go on; undefined for an item that waits for nothing. */
export function waitingFor(item: Record<string, unknown>): string | undefined {
  if (item.type === 'mcp_approval_request') {
    const answer = JSON.stringify({ type: 'mcp_approval_response', approval_request_id: item.id, approve: true });
    return `The MCP server "${item.server_label}" asks whether "${item.name}" may be called with ${item.arguments}. Answer with ${answer} in the input of providerOptions.`;
  }
  const answer = ANSWERS.get(String(item.type));
  if (answer === undefined || (item.type === 'tool_search_call' && item.execution !== 'client')) return undefined;
  return `The model waits for a ${answer} (call_id ${item.call_id}), which only you can give: send it in the input of providerOptions.`;
}
