from overcoat.data.reference import give_back_memory as give_back_memory
