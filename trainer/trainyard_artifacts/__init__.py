"""The artifact store on a shared folder, as trainers write it and engines read it."""
