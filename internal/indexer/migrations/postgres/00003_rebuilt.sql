-- +goose Up
-- True if the event is not in the logs and the indexer computed it from the instructions and transfers.
ALTER TABLE events ADD COLUMN rebuilt BOOLEAN NOT NULL DEFAULT FALSE;
-- The metadata that the acceptance of an offer names, which its event does not contain; NULL for other events.
ALTER TABLE events ADD COLUMN metadata BYTEA;
