-- +goose Up

-- A key of the role operator works on the whole server and may belong to no app. The key that the
-- server made or was configured with has been the key of its operator.
ALTER TABLE api_keys
    DROP CONSTRAINT api_keys_app_id_check,
    DROP CONSTRAINT api_keys_role_check,
    ADD CONSTRAINT api_keys_role_check CHECK (role IN ('read', 'write', 'admin', 'operator')),
    ADD CONSTRAINT api_keys_app_id_check CHECK (octet_length(app_id) <= 256 AND (app_id <> '' OR role = 'operator'));
UPDATE api_keys SET role = 'operator' WHERE app_id = 'default' AND role = 'admin' AND name IN ('first', 'configured');
