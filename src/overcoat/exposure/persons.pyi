from overcoat.exposure.reference import Persons as Persons
