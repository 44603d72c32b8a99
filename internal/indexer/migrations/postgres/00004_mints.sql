-- +goose Up
-- The mints of negotiations. A token is ten to the power of decimals base units. A mint that only an earlier version of haggle
-- has indexed is not here before its next transaction.
CREATE TABLE mints (
    mint      TEXT PRIMARY KEY,
    decimals  INTEGER NOT NULL
);
