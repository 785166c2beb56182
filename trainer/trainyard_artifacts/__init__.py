"""The artifact store, as trainers write it and engines read it."""
