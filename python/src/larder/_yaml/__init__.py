"""Write values as YAML."""
