"""Which names say that their value is a secret."""

from __future__ import annotations

import pytest

from rl_gym.iac.secret_names import names_secret, names_secret_variable


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "master_password",
        "DB_PASSWORD",
        "dbPassword",
        "db-password",
        "password_wo",
        "secret_string",
        "client_secret",
        "auth_token",
        "OAuthToken",
        "GITHUB_TOKEN",
        "private_key",
        "api_key",
        "passwords",
    ],
)
def test_secrets(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "username",
        "secret_arn",
        "secret_id",
        "password_length",
        "minimum_password_length",
        "manage_master_user_password_rotation",
        "http_tokens",
        "creation_token",
        "client_request_token",
        "kms_key",
        "key",
        "public_key",
        "tokenizer",
    ],
)
def test_no_secrets(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize(
    "name", ["DB_PASSWORD", "PGPASSWORD", "DB_PASS", "JWT_SIGNING_KEY", "DB_PASSWORD_PROD", "API_KEY_2", "APP_SECRETS"]
)
def test_secrets_of_an_environment(name: str) -> None:
    assert names_secret_variable(name)


@pytest.mark.parametrize("name", ["", "STAGE", "PARTITION_KEY", "BYPASS", "DB_PASSWORD_ARN", "TOKEN_TTL", "PROD", "2"])
def test_other_variables_of_an_environment(name: str) -> None:
    assert not names_secret_variable(name)
