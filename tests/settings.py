"""The site's settings as the tests want them; only DATABASE_URL is the caller's, so that PostgreSQL can be tested."""

import os

os.environ.update(
    SITE_MODE="test", SITE_URL="http://testserver", SECRET_KEY="only-for-tests", LOG_LEVEL="WARNING"
)

from configurator.settings import *  # noqa: F403

DEBUG = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
