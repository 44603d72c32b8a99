-- name: Pin :one
SELECT key, settlement FROM hire_pins WHERE origin = @origin;

-- AddPin adds nothing if the origin has a pin.
-- name: AddPin :exec
INSERT INTO hire_pins (origin, key, settlement) VALUES (@origin, @key, @settlement) ON CONFLICT (origin) DO NOTHING;

-- MovePin changes only the pin from which it is moved.
-- name: MovePin :exec
UPDATE hire_pins SET key = @key, settlement = @settlement
WHERE origin = @origin AND key = @from_key AND settlement = @from_settlement;
