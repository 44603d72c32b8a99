-- The number of the last record of each wallet. An append increments it if the process knows that number.
CREATE TABLE haggle_policy_log (
	wallet text   PRIMARY KEY,
	last   bigint NOT NULL
);
CREATE TABLE haggle_policy_record (
	wallet text   NOT NULL REFERENCES haggle_policy_log,
	number bigint NOT NULL,
	record jsonb  NOT NULL,
	PRIMARY KEY (wallet, number)
);
