-- The metrics count the negotiations that ended since they were last read. No query reads the terms by their content.
CREATE INDEX negotiations_completed ON negotiations (completed_at) WHERE completed_at IS NOT NULL;
{{- if .Postgres}}
DROP INDEX negotiations_current_terms;
DROP INDEX negotiations_final_terms;
{{- end}}
