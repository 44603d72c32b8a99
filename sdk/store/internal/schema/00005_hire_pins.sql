-- +goose Up

-- The keys of agents by their origins (hire.Pin), as the first card and its signed successors contain them.
CREATE TABLE haggle_hire_pins (
    origin       TEXT PRIMARY KEY,
    key          TEXT NOT NULL,
    -- Empty if the agent settles nothing.
    settlement   TEXT NOT NULL
);
