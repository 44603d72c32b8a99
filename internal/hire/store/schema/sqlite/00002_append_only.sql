-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER hire_entries_not_updated BEFORE UPDATE ON hire_entries
    BEGIN SELECT RAISE(ABORT, 'hire_entries: rows never change'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER hire_entries_not_deleted BEFORE DELETE ON hire_entries
    BEGIN SELECT RAISE(ABORT, 'hire_entries: rows never change'); END;
-- +goose StatementEnd
-- INSERT OR REPLACE does not call the trigger of DELETE.
-- +goose StatementBegin
CREATE TRIGGER hire_entries_not_replaced BEFORE INSERT ON hire_entries
    WHEN EXISTS (SELECT 1 FROM hire_entries WHERE conversation = NEW.conversation AND sequence = NEW.sequence)
    BEGIN SELECT RAISE(ABORT, 'hire_entries: rows never change'); END;
-- +goose StatementEnd
