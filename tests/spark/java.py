"""How the tests run Java."""

# Each plan runs once or twice, so the second compiler and parallel collectors would cost more than they give.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
