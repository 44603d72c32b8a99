-- The gateway's database in compose.yaml. PostgreSQL's image runs this file when it creates its data folder.
CREATE DATABASE gateway;
