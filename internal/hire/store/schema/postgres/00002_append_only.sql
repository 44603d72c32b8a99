-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION hire_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%: rows never change', TG_TABLE_NAME; END $$;
-- +goose StatementEnd
CREATE TRIGGER hire_entries_append_only BEFORE UPDATE OR DELETE ON hire_entries
    FOR EACH ROW EXECUTE FUNCTION hire_refuse_change();
CREATE TRIGGER hire_entries_never_emptied BEFORE TRUNCATE ON hire_entries
    FOR EACH STATEMENT EXECUTE FUNCTION hire_refuse_change();
