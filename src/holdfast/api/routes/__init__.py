"""The routes under `/api/v1`, one resource a module. Each says which role it takes."""
