/** Columns of a record; `u` is the join with memory_uses. */
export const recordColumns = `m.row, m.id, m.scope, m.role, m.thread, m.title, m.content, m.category, m.relevance, m.tags, m.about,
  m.confidence, m.kind, m.version, m.created_at, m.updated_at, m.superseded_by, m.forgotten_at, m.provenance,
  coalesce(u.uses, 0) AS uses, u.last_used_at,
  (SELECT coalesce(json_agg(s.id), '[]')::text FROM @memories s WHERE s.superseded_by = m.id) AS supersedes`;
export const recordTables = "@memories m LEFT JOIN @memory_uses u ON u.row = m.row";

export const candidateColumns = `m.row, m.id, m.scope, m.thread, m.title, m.category, m.relevance, m.kind, m.tags, m.about, m.updated_at,
  coalesce(u.uses, 0) AS uses, u.last_used_at, t.title AS t_title, t.body AS t_body, t.tags AS t_tags, t.about AS t_about, t.len`;
export const candidateTables =
  "@memories m JOIN @memory_terms t ON t.row = m.row LEFT JOIN @memory_uses u ON u.row = m.row";

export const live = "m.superseded_by IS NULL AND m.forgotten_at IS NULL";
/** The filter that no statement on memories goes without; binds `:workspace` and `:agent`. */
export const visible = "m.workspace = :workspace AND (m.scope = 'workspace' OR m.role = :agent)";
