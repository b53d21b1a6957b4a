"""Cloud Foundry's Cloud Controller, which is written in Ruby."""
