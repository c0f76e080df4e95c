/**
 * SQL for the tool calls of every turn, counted: rows (episode, turn, name, error, n). Counted inside the list first:
 * the engine takes time that grows with the square of a list to make rows of it, and a turn may hold a million calls.
 */
export const CALL_COUNTS = `
  (SELECT episode, turn, c.key.name AS name, c.key.error AS error, c.value::BIGINT AS n FROM (
    SELECT episode, turn, unnest(map_entries(list_aggregate(
      from_json(tool_calls, '[{"name": "VARCHAR", "error": "BOOLEAN"}]'), 'histogram'))) AS c
    FROM turns WHERE tool_calls IS NOT NULL))`;
