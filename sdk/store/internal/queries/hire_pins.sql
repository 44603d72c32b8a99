-- name: HirePin :one
SELECT key, settlement FROM haggle_hire_pins WHERE origin = @origin;

-- AddHirePin does nothing if the origin has a pin.
-- name: AddHirePin :exec
INSERT INTO haggle_hire_pins (origin, key, settlement) VALUES (@origin, @key, @settlement)
ON CONFLICT (origin) DO NOTHING;

-- MoveHirePin does nothing if the origin has another pin.
-- name: MoveHirePin :exec
UPDATE haggle_hire_pins SET key = @key, settlement = @settlement
WHERE origin = @origin AND key = @from_key AND settlement = @from_settlement;
