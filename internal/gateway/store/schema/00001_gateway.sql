-- A template of both dialects: .ID is the type of numbered keys, .UUID and .JSON are column types, and
-- .Postgres is true for PostgreSQL. Times are microseconds since 1970 in UTC. Hashes are lowercase
-- hexadecimal digits.

CREATE TABLE publishers (
    id                          {{.ID}},
    hostname                    TEXT NOT NULL UNIQUE,
    name                        TEXT NOT NULL,
    currency                    TEXT NOT NULL,
    published_floor_micro       BIGINT CHECK (published_floor_micro >= 0),
    is_active                   BOOLEAN NOT NULL,
    created_at                  BIGINT NOT NULL,
    updated_at                  BIGINT NOT NULL
);

-- One row for each identity that opens negotiations. subject is the identity's name in its kind, such as the
-- id of a key. Only a verified registration has a name.
CREATE TABLE clients (
    id                          {{.ID}},
    kind                        TEXT NOT NULL CHECK
        (kind IN ('api_key', 'ed25519', 'web_bot_auth', 'anonymous')),
    subject                     TEXT NOT NULL,
    name                        TEXT CHECK (name IS NULL OR kind <> 'anonymous'),
    created_at                  BIGINT NOT NULL,
    UNIQUE (kind, subject)
);

CREATE TABLE api_keys (
    id                          {{.UUID}} PRIMARY KEY,
    hash                        TEXT NOT NULL UNIQUE,
    name                        TEXT NOT NULL,
    scopes                      {{.JSON}} NOT NULL,
    publisher_id                BIGINT REFERENCES publishers (id),
    client_id                   BIGINT REFERENCES clients (id),
    created_at                  BIGINT NOT NULL,
    expires_at                  BIGINT,
    revoked_at                  BIGINT,
    CHECK ((publisher_id IS NULL) <> (client_id IS NULL))
);
CREATE INDEX api_keys_publisher ON api_keys (publisher_id);
CREATE INDEX api_keys_client ON api_keys (client_id);

-- A change of a strategy is a further version. definition has the whole strategy; the columns repeat parts of
-- it.
CREATE TABLE negotiation_strategies (
    id                              {{.ID}},
    publisher_id                    BIGINT NOT NULL REFERENCES publishers (id),
    strategy_name                   TEXT NOT NULL,
    version                         INTEGER NOT NULL,
    negotiation_style               TEXT,
    min_price_per_fetch_micro       BIGINT,
    preferred_price_per_fetch_micro BIGINT,
    max_price_per_fetch_micro       BIGINT,
    min_token_ttl_seconds           BIGINT,
    preferred_token_ttl_seconds     BIGINT,
    max_token_ttl_seconds           BIGINT,
    min_burst_rps                   BIGINT,
    preferred_burst_rps             BIGINT,
    max_burst_rps                   BIGINT,
    allowed_purposes                {{.JSON}},
    preferred_purposes              {{.JSON}},
    deal_breakers                   {{.JSON}},
    max_rounds                      BIGINT,
    auto_accept_threshold           DOUBLE PRECISION,
    timeout_seconds                 BIGINT,
    llm_provider                    TEXT,
    llm_model                       TEXT,
    llm_temperature                 DOUBLE PRECISION,
    system_prompt                   TEXT,
    definition                      TEXT NOT NULL,
    is_active                       BOOLEAN NOT NULL,
    created_at                      BIGINT NOT NULL,
    updated_at                      BIGINT NOT NULL,
    UNIQUE (publisher_id, strategy_name, version)
);
CREATE UNIQUE INDEX negotiation_strategies_active ON negotiation_strategies (publisher_id) WHERE is_active;

CREATE TABLE bundles (
    id                          {{.UUID}} PRIMARY KEY,
    client_id                   BIGINT NOT NULL REFERENCES clients (id),
    definition                  {{.JSON}} NOT NULL,
    created_at                  BIGINT NOT NULL
);

CREATE TABLE negotiations (
    id                          {{.UUID}} PRIMARY KEY,
    publisher_id                BIGINT NOT NULL REFERENCES publishers (id),
    client_id                   BIGINT NOT NULL REFERENCES clients (id),
    client_name                 TEXT,
    anonymous                   BOOLEAN NOT NULL,
    bundle_id                   {{.UUID}} REFERENCES bundles (id),
    strategy_id                 BIGINT NOT NULL REFERENCES negotiation_strategies (id),
    status                      TEXT NOT NULL CHECK (status IN
        ('initiated', 'negotiating', 'awaiting_approval', 'accepted', 'rejected', 'timeout')),
    reason                      TEXT NOT NULL,
    current_round               INTEGER NOT NULL,
    initial_proposal            {{.JSON}} NOT NULL,
    current_terms               {{.JSON}},
    current_offer_by            TEXT CHECK (current_offer_by IN ('client', 'publisher')),
    final_terms                 {{.JSON}},
    agreed_price_micro          BIGINT CHECK (agreed_price_micro >= 0),
    generated_policy_id         BIGINT,
    initiated_by                TEXT NOT NULL,
    initiated_at                BIGINT NOT NULL,
    completed_at                BIGINT,
    last_activity_at            BIGINT NOT NULL,
    deadline_at                 BIGINT NOT NULL,
    context                     {{.JSON}},
    audit_length                BIGINT NOT NULL,
    audit_head                  TEXT NOT NULL,
    created_at                  BIGINT NOT NULL,
    updated_at                  BIGINT NOT NULL,
    CHECK ((status = 'accepted') = (final_terms IS NOT NULL)),
    CHECK ((status IN ('accepted', 'rejected', 'timeout')) = (completed_at IS NOT NULL)),
    CHECK (generated_policy_id IS NULL OR status = 'accepted')
);
CREATE INDEX negotiations_status ON negotiations (status);
CREATE INDEX negotiations_last_activity_at ON negotiations (last_activity_at);
-- Checkpoints of the audit log list what has changed.
CREATE INDEX negotiations_updated_at ON negotiations (updated_at);
CREATE INDEX negotiations_created ON negotiations (created_at, id);
CREATE INDEX negotiations_publisher ON negotiations (publisher_id, created_at, id);
CREATE INDEX negotiations_client ON negotiations (client_id, created_at, id);
CREATE INDEX negotiations_bundle ON negotiations (bundle_id) WHERE bundle_id IS NOT NULL;
CREATE INDEX negotiations_deadline ON negotiations (deadline_at)
    WHERE status IN ('initiated', 'negotiating', 'awaiting_approval');
CREATE INDEX negotiations_open ON negotiations (publisher_id, deadline_at)
    WHERE status IN ('initiated', 'negotiating', 'awaiting_approval');
{{if .Postgres}}
CREATE INDEX negotiations_current_terms ON negotiations USING GIN (current_terms jsonb_path_ops);
CREATE INDEX negotiations_final_terms ON negotiations USING GIN (final_terms jsonb_path_ops);
{{end}}
CREATE TABLE negotiation_rounds (
    id                          {{.UUID}} PRIMARY KEY,
    negotiation_id              {{.UUID}} NOT NULL REFERENCES negotiations (id),
    round_number                INTEGER NOT NULL,
    actor                       TEXT NOT NULL CHECK (actor IN ('client', 'publisher', 'system')),
    action                      TEXT NOT NULL,
    proposed_terms              {{.JSON}},
    reasoning                   TEXT NOT NULL,
    llm_model                   TEXT,
    llm_tokens_used             BIGINT,
    llm_response_time_ms        BIGINT,
    analysis                    {{.JSON}},
    created_at                  BIGINT NOT NULL,
    UNIQUE (negotiation_id, round_number, actor, action)
);

CREATE TABLE negotiation_messages (
    id                          {{.UUID}} PRIMARY KEY,
    negotiation_id              {{.UUID}} NOT NULL REFERENCES negotiations (id),
    round_id                    {{.UUID}} NOT NULL REFERENCES negotiation_rounds (id),
    sender                      TEXT NOT NULL,
    message_type                TEXT NOT NULL,
    message                     TEXT NOT NULL,
    structured_data             {{.JSON}},
    created_at                  BIGINT NOT NULL
);
CREATE INDEX negotiation_messages_negotiation ON negotiation_messages (negotiation_id, created_at, id);

CREATE TABLE policies (
    id                          {{.ID}},
    publisher_id                BIGINT NOT NULL REFERENCES publishers (id),
    client_id                   BIGINT NOT NULL REFERENCES clients (id),
    negotiation_id              {{.UUID}} NOT NULL UNIQUE REFERENCES negotiations (id),
    policy_json                 {{.JSON}} NOT NULL,
    created_at                  BIGINT NOT NULL,
    revoked_at                  BIGINT
);
CREATE INDEX policies_publisher ON policies (publisher_id, created_at, id);
CREATE INDEX policies_client ON policies (client_id, created_at, id);

-- The answer to the first request with each key. It is TEXT: a repeated answer has the same bytes.
CREATE TABLE idempotency_keys (
    owner                       TEXT NOT NULL,
    idempotency_key             TEXT NOT NULL,
    body_hash                   TEXT NOT NULL,
    answer                      TEXT NOT NULL,
    created_at                  BIGINT NOT NULL,
    PRIMARY KEY (owner, idempotency_key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- entry is TEXT: JSONB does not keep the bytes that the hash covers.
CREATE TABLE audit_entries (
    negotiation_id              {{.UUID}} NOT NULL REFERENCES negotiations (id),
    sequence                    BIGINT NOT NULL,
    entry                       TEXT NOT NULL,
    hash                        TEXT NOT NULL,
    PRIMARY KEY (negotiation_id, sequence)
);
{{if .Postgres}}
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%: rows never change', TG_TABLE_NAME; END $$;
{{range .AppendOnly}}
CREATE TRIGGER {{.}}_append_only BEFORE UPDATE OR DELETE ON {{.}}
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER {{.}}_never_emptied BEFORE TRUNCATE ON {{.}}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
{{end}}
CREATE TRIGGER negotiation_strategies_versioned BEFORE UPDATE OF {{.StrategyColumns}}
    ON negotiation_strategies FOR EACH ROW EXECUTE FUNCTION refuse_change();
{{else}}
{{range .AppendOnly}}
CREATE TRIGGER {{.}}_not_updated BEFORE UPDATE ON {{.}}
    BEGIN SELECT RAISE(ABORT, '{{.}}: rows never change'); END;
CREATE TRIGGER {{.}}_not_deleted BEFORE DELETE ON {{.}}
    BEGIN SELECT RAISE(ABORT, '{{.}}: rows never change'); END;
{{end}}
-- INSERT OR REPLACE does not call the trigger of DELETE.
CREATE TRIGGER audit_entries_not_replaced BEFORE INSERT ON audit_entries
    WHEN EXISTS (SELECT 1 FROM audit_entries
        WHERE negotiation_id = NEW.negotiation_id AND sequence = NEW.sequence)
    BEGIN SELECT RAISE(ABORT, 'audit_entries: rows never change'); END;
CREATE TRIGGER negotiation_strategies_versioned BEFORE UPDATE OF {{.StrategyColumns}}
    ON negotiation_strategies BEGIN SELECT RAISE(ABORT, 'negotiation_strategies: rows never change'); END;
{{end}}
